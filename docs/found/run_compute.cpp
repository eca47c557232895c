// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one workgroup of a compute shader on the first Vulkan device and prints its words.
//
//   c++ -std=c++17 run_compute.cpp -o run_compute -lvulkan -lshaderc
//   VK_DRIVER_FILES=<driver>.json ./run_compute shader.comp     (GLSL; or SPIR-V, shader.spv)
//   ./run_compute --features                                    (what the device says it has)
//
// Debian 12 wants these in place of -lshaderc:
//
//   -Wl,--start-group -lshaderc_combined -lglslang -lHLSL -lMachineIndependent
//   -lGenericCodeGen -lOSDependent -lOGLCompiler -lSPIRV -lSPIRV-Tools-opt -lSPIRV-Tools
//   -lpthread
//
// Buffers are at set 0, bindings 0, 1, ..., as lines of the shader or the command line say:
//   //! buffer 0 = 0x80000000 -1 1.5f 7x3     words of 32 bits; NxM is N, M times
//   //! print 8                               words of buffer 0 to print (16)
//   //! groups 1                              workgroups (1)
//   //! rounding upward                       of the host's thread, from the beginning on
// "buffer 0 = ..." as an argument after the shader takes the place of its line.
#include <vulkan/vulkan.h>
#include <shaderc/shaderc.hpp>

#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

static void check(VkResult r, const char* what) {
  if (r != VK_SUCCESS) std::fprintf(stderr, "%s: VkResult %d\n", what, (int)r), std::exit(3);
}
#define VK(call) check(call, #call)

static std::map<unsigned, std::vector<uint32_t>> buffers;
static unsigned words_to_print = 16, groups = 1;

static void directive(const std::string& line) {
  std::istringstream in(line);
  std::string kind, equals, word;
  in >> kind;
  if (kind == "print") in >> words_to_print;
  if (kind == "groups") in >> groups;
  if (kind == "rounding") std::fesetround(FE_UPWARD);
  if (kind != "buffer") return;
  unsigned at = 0;
  in >> at >> equals;
  auto& data = buffers[at];
  data.clear();
  while (in >> word) {
    const size_t times = word.compare(0, 2, "0x") == 0 ? std::string::npos : word.find('x');
    const size_t count = times == std::string::npos ? 1 : std::stoul(word.substr(times + 1));
    word = word.substr(0, times);
    uint32_t bits = (uint32_t)std::strtoll(word.c_str(), nullptr, 0);
    if (word.compare(0, 2, "0x") != 0 && word.back() == 'f') {
      const float value = std::strtof(word.c_str(), nullptr);
      std::memcpy(&bits, &value, 4);
    }
    data.insert(data.end(), count, bits);
  }
}

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: %s shader [directive...]\n", argv[0]), 2;
  const std::string path = argv[1];
  std::string text;
  if (path != "--features") {
    std::ifstream file(path, std::ios::binary);
    std::stringstream all;
    all << file.rdbuf();
    text = all.str();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.compare(0, 4, "//! ") == 0) directive(line.substr(4));
    for (int i = 2; i < argc; ++i) directive(argv[i]);
    if (buffers.empty()) buffers[0].assign(16, 0);
  }

  std::vector<uint32_t> spirv(text.size() / 4);
  std::memcpy(spirv.data(), text.data(), spirv.size() * 4);
  if (!text.empty() && (spirv.empty() || spirv[0] != 0x07230203)) {
    shaderc::CompileOptions options;
    options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
    const auto module =
        shaderc::Compiler().CompileGlslToSpv(text, shaderc_compute_shader, path.c_str(), options);
    if (module.GetCompilationStatus() != shaderc_compilation_status_success)
      return std::fprintf(stderr, "%s", module.GetErrorMessage().c_str()), 2;
    spirv.assign(module.begin(), module.end());
    if (const char* to = std::getenv("SPIRV_OUT"))
      std::ofstream(to, std::ios::binary).write((const char*)spirv.data(), (long)spirv.size() * 4);
  }

  VkApplicationInfo app{VK_STRUCTURE_TYPE_APPLICATION_INFO, {}, {}, {}, {}, {}, VK_API_VERSION_1_2};
  VkInstanceCreateInfo instance_info{
      VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, {}, {}, &app, {}, {}, {}, {}};
  VkInstance instance;
  VK(vkCreateInstance(&instance_info, nullptr, &instance));
  uint32_t one = 1;
  VkPhysicalDevice physical;
  check(vkEnumeratePhysicalDevices(instance, &one, &physical) < 0 || !one ? VK_ERROR_DEVICE_LOST
                                                                          : VK_SUCCESS,
        "no device");
  VkPhysicalDeviceVulkan12Features f12{};
  VkPhysicalDeviceVulkan11Features f11{};
  VkPhysicalDeviceFeatures2 features{};
  f12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  f11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, f11.pNext = &f12;
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, features.pNext = &f11;
  vkGetPhysicalDeviceFeatures2(physical, &features);  // all that there is is asked for
  VkPhysicalDeviceVulkan12Properties p12{};
  VkPhysicalDeviceProperties2 properties{};
  p12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, properties.pNext = &p12;
  vkGetPhysicalDeviceProperties2(physical, &properties);
  std::printf("%s, %s, %s\n", properties.properties.deviceName, p12.driverName, p12.driverInfo);
  if (path == "--features") {
    std::printf(
        "shaderInt64 %u shaderInt16 %u shaderInt8 %u shaderFloat64 %u shaderFloat16 %u\n"
        "storage 8 %u 16 %u, float controls f32: denorm preserve %u flush %u, signed zero inf nan "
        "%u, rte %u rtz %u\n"
        "f64: denorm preserve %u, signed zero inf nan %u, rte %u\nf16: preserve %u rte %u\n",
        features.features.shaderInt64, features.features.shaderInt16, f12.shaderInt8,
        features.features.shaderFloat64, f12.shaderFloat16, f12.storageBuffer8BitAccess,
        f11.storageBuffer16BitAccess, p12.shaderDenormPreserveFloat32,
        p12.shaderDenormFlushToZeroFloat32, p12.shaderSignedZeroInfNanPreserveFloat32,
        p12.shaderRoundingModeRTEFloat32, p12.shaderRoundingModeRTZFloat32,
        p12.shaderDenormPreserveFloat64, p12.shaderSignedZeroInfNanPreserveFloat64,
        p12.shaderRoundingModeRTEFloat64, p12.shaderDenormPreserveFloat16,
        p12.shaderRoundingModeRTEFloat16);
    return 0;
  }

  const float priority = 1;
  VkDeviceQueueCreateInfo queue_info{
      VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, {}, {}, 0, 1, &priority};
  features.features.robustBufferAccess = 0;
  VkDeviceCreateInfo device_info{
      VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features, {}, 1, &queue_info, {}, {}, {}, {}, {}};
  VkDevice device;
  VK(vkCreateDevice(physical, &device_info, nullptr, &device));
  VkQueue queue;
  vkGetDeviceQueue(device, 0, 0, &queue);
  VkPhysicalDeviceMemoryProperties memories;
  vkGetPhysicalDeviceMemoryProperties(physical, &memories);

  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (auto& [at, data] : buffers)
    bindings.push_back({at, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, {}});
  VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           {},
                                           {},
                                           (uint32_t)bindings.size(),
                                           bindings.data()};
  VkDescriptorSetLayout set_layout;
  VK(vkCreateDescriptorSetLayout(device, &set_info, nullptr, &set_layout));
  VkPipelineLayoutCreateInfo layout_info{
      VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, {}, {}, 1, &set_layout, 0, {}};
  VkPipelineLayout layout;
  VK(vkCreatePipelineLayout(device, &layout_info, nullptr, &layout));
  VkShaderModuleCreateInfo module_info{
      VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, {}, {}, spirv.size() * 4, spirv.data()};
  VkShaderModule module;
  VK(vkCreateShaderModule(device, &module_info, nullptr, &module));
  VkComputePipelineCreateInfo pipeline_info{};
  pipeline_info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
  pipeline_info.layout = layout;
  pipeline_info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                         {},
                         {},
                         VK_SHADER_STAGE_COMPUTE_BIT,
                         module,
                         "main",
                         {}};
  VkPipeline pipeline;
  VK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline_info, nullptr, &pipeline));
  VkDescriptorPoolSize pool_size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, (uint32_t)bindings.size()};
  VkDescriptorPoolCreateInfo pool_info{
      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, {}, {}, 1, 1, &pool_size};
  VkDescriptorPool pool;
  VK(vkCreateDescriptorPool(device, &pool_info, nullptr, &pool));
  VkDescriptorSetAllocateInfo set_allocate{
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, {}, pool, 1, &set_layout};
  VkDescriptorSet set;
  VK(vkAllocateDescriptorSets(device, &set_allocate, &set));

  uint32_t* mapped = nullptr;
  for (auto& [at, data] : buffers) {
    VkBufferCreateInfo buffer_info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, {}, {}, data.size() * 4,
                                   VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,   {}, {}, {}};
    VkBuffer buffer;
    VK(vkCreateBuffer(device, &buffer_info, nullptr, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    const uint32_t host =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, {}, needs.size, 0};
    while (!(needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) ||
           (memories.memoryTypes[allocate.memoryTypeIndex].propertyFlags & host) != host)
      ++allocate.memoryTypeIndex;
    VkDeviceMemory memory;
    VK(vkAllocateMemory(device, &allocate, nullptr, &memory));
    VK(vkBindBufferMemory(device, buffer, memory, 0));
    void* here;
    VK(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &here));
    std::memcpy(here, data.data(), data.size() * 4);
    if (at == 0) mapped = static_cast<uint32_t*>(here);
    VkDescriptorBufferInfo range{buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, {}, set,    at, 0, 1,
                               VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,      {}, &range, {}};
    vkUpdateDescriptorSets(device, 1, &write, 0, nullptr);
  }

  VkCommandPoolCreateInfo commands_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, {}, {}, 0};
  VkCommandPool commands;
  VK(vkCreateCommandPool(device, &commands_info, nullptr, &commands));
  VkCommandBufferAllocateInfo command_allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                               {},
                                               commands,
                                               VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                               1};
  VkCommandBuffer command;
  VK(vkAllocateCommandBuffers(device, &command_allocate, &command));
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, {}, {}, {}};
  VK(vkBeginCommandBuffer(command, &begin));
  vkCmdBindPipeline(command, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vkCmdBindDescriptorSets(command, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
  vkCmdDispatch(command, groups, 1, 1);
  VkMemoryBarrier to_host{
      VK_STRUCTURE_TYPE_MEMORY_BARRIER, {}, VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_HOST_READ_BIT};
  vkCmdPipelineBarrier(command, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0,
                       1, &to_host, 0, nullptr, 0, nullptr);
  VK(vkEndCommandBuffer(command));
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO, {}, {}, {}, {}, 1, &command, {}, {}};
  VK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
  VK(vkQueueWaitIdle(queue));
  for (unsigned i = 0; i < words_to_print && i < buffers.begin()->second.size(); ++i) {
    float value;
    std::memcpy(&value, mapped + i, 4);
    std::printf("%3u: 0x%08x %11d %g\n", i, mapped[i], (int)mapped[i], (double)value);
  }
  std::fflush(stdout);
  std::_Exit(0);
}

// Draws the page from the report, which stands in it as JSON. Text becomes text nodes alone: nothing
// that a plugin says is ever markup.

const LOOKS = {
  PASS: ['pass', '✓', 'passes'],
  FAIL: ['fail', '✗', 'wrong'],
  UNSUPPORTED: ['unsupported', '–', 'not supported'],
  CRASH: ['crash', '!', 'crashed'],
  TIMEOUT: ['timeout', 'T', 'timed out'],
  DEVICE_LOST: ['device_lost', 'L', 'device lost'],
  FLAKY: ['flaky', '≈', 'failed once, not again'],
  VACUOUS: ['vacuous', '○', 'ran, but says nothing'],
  XFAIL: ['xfail', 'x', 'fails as expected'],
  XPASS: ['xpass', 'X', 'passes against expectation'],
  TOOL_ERROR: ['tool_error', '?', 'not legal: an error of the tool'],
};
const GROUPS = [  // names, or beginnings that end with a dot; a group folds when every cell of it passes
  {name: 'Elementwise', ops: []},  // whatever is in no other
  {name: 'Moves, indexing, control', ops: ['reshape', 'expand', 'permute', 'pad', 'shrink', 'flip', 'take', 'store.',
    'index', 'const', 'param', 'if', 'loop', 'while']},
  {name: 'Reductions', ops: ['reduce.']},
  {name: 'Casts', ops: ['cast.'], folds: true},
  {name: 'Bit casts', ops: ['bitcast.'], folds: true},
  {name: 'Refusals: ops that the device does not claim', ops: ['unclaimed.'], folds: true},
  {name: 'Graphs and schedules', ops: ['graph', 'schedule', 'kernel']},
  {name: 'Patterns of programs', ops: ['api.']},
];
const MOST_OPEN = 3, SHORT_TEXT = 140, MOST_ERRORS = 40;

// Integers beyond 2^53 keep their digits.
const exact = (key, value, context) => typeof value === 'number' && !Number.isSafeInteger(value) && context &&
  /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
const read = id => JSON.parse(document.getElementById(id).textContent, exact);
const report = read('report'), {dtypes, failing, freedoms} = read('tables');

// Control characters as their pictures; characters that turn the direction of text, and none, as U+FFFD.
const printable = text => text.replace(/[\0-\x08\x0b-\x1f]/g, one => String.fromCharCode(0x2400 + one.charCodeAt(0)))
  .replace(/\x7f/g, '\u2421').replace(/[\x80-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff]/g, '\ufffd');

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== false && value !== undefined) element.setAttribute(name, value === true ? '' : printable(String(value)));
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== '')
      element.append(child instanceof Node ? child : printable(String(child)));
  return element;
}
const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

const number = value => ({inf: Infinity, '-inf': -Infinity, nan: NaN})[value] ?? value;
const grouped = value => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
const counted = (value, thing) => `${grouped(value)} ${thing}${value === 1 ? '' : 's'}`;
const counts_text = counts => Object.entries(counts).filter(([, n]) => n).map(([name, n]) => `${n} ${name}`).join(', ') ||
  'no cases';
function ulp_text(ulp) {
  if (!Number.isFinite(ulp)) return 'beyond measure';
  return ulp < 1e6 ? String(Number(ulp.toPrecision(4))) : ulp.toExponential(1);
}
const reasons_text = cell => Object.entries(cell.unsupported).map(([why, n]) => `${n} unsupported: ${why}`).join('; ');
const statuses = cell => [counts_text(cell.counts),
  cell.counts.UNSUPPORTED ? make('div', {class: 'soft'}, reasons_text(cell)) : null];
const words = name => name.replaceAll('_', ' ');

const badge = status => make('i', {class: 's ' + LOOKS[status][0], 'aria-hidden': 'true'}, LOOKS[status][1]);
// What the filter goes by.
const filter_data = (op, dtype, status) =>
  ({'data-op': op, 'data-dtype': dtype, 'data-status': status, 'data-problem': failing.includes(status)});
const cell_id = cell => `c-${cell.op}-${cell.dtype}`;
const section = (id, title, ...children) => make('section', {}, make('h2', {id}, title), children);
const head = names => make('thead', {}, make('tr', {}, names.map(name => make('th', {scope: 'col'}, name))));
const row = (first, ...fields) =>
  make('tr', {}, make('th', {scope: 'row'}, first), fields.map(field => make('td', {}, field)));
const table = (kind, names, rows) =>
  make('table', {class: kind}, names.length ? head(names) : null, make('tbody', {}, rows));
const carded = content => make('div', {class: 'card scroll'}, content);

const cells = report.cells.filter(cell => dtypes.includes(cell.dtype));
const calls = report.cells.filter(cell => !dtypes.includes(cell.dtype));
const states = list => {
  const found = Object.fromEntries(Object.keys(LOOKS).map(name => [name, 0]));
  for (const cell of list) ++found[cell.state];
  return found;
};

function tallies() {
  const found = Object.entries(report.counts).filter(([, n]) => n);
  return [make('div', {class: 'bar', 'aria-hidden': 'true'}, found.map(([status, n]) => {
    const part = make('i', {class: LOOKS[status][0]});
    part.style.flex = String(n);
    return part;
  })), make('ul', {class: 'tallies'},
    found.map(([status, n]) => make('li', {}, badge(status), make('b', {}, grouped(n)), ' ' + status)))];
}

// ---- Failures ----

function diff_table(diff) {
  const rows = diff.split('\n').filter(line => line).map(line => {
    const fields = line.split('\t');
    if (fields.length < 3) return make('tr', {}, make('td', {colspan: 4}, line));
    return row(...[0, 1, 2, 3].map(i => make('code', {}, fields[i] ?? '')));
  });
  return [make('h4', {}, 'Values that differ'), make('div', {class: 'scroll'},
    table('list', ['element', 'expected', 'got', 'ULP apart'], rows))];
}

function failure_facts(failure, failures) {
  const step = failure.op.startsWith('api.') ? 'step' : 'node';
  const facts = {
    'Kind': failure.kind,
    'Case': failure.case,
    'Shrunk to': failure.nodes > 0 && `${counted(failure.nodes, step)}, ${counted(failure.elements, 'element')}, in ` +
      `${failure.shrink_seconds.toFixed(1)} s`,
    'First bad step': failure.transform,
    'Other plugins': failure.votes,
    'Of this cause': failures?.length > 1 && counted(failures.reduce((sum, one) => sum + 1 + Number(one.same), 0), 'case') +
      ': ' + [...new Set(failures.map(one => `${one.op} ${one.dtype}`))].join(', '),
    'The same again': failure.same && (failure.same === 1 ? '1 case more' : grouped(failure.same) + ' cases more'),
  };
  return make('dl', {class: 'facts'}, Object.entries(facts).filter(([, value]) => value)
    .map(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]));
}

function failure_block(failure, failures) {
  const side = {CRASH: ' is-crash', TIMEOUT: ' is-crash', DEVICE_LOST: ' is-crash', FLAKY: ' is-flaky', XPASS: ' is-xpass'};
  const letters = [...failure.text.split('\n')[0]];
  const start = letters.length > SHORT_TEXT ? letters.slice(0, SHORT_TEXT).join('') + '…' : letters.join('');
  return make('details', {class: 'failure filtered' + (side[failure.status] ?? ''), open: report.failures.length <= MOST_OPEN,
    ...filter_data(failure.op, failure.dtype, failure.status)},
  make('summary', {}, badge(failure.status), failure.status, make('b', {}, `${failure.op} ${failure.dtype}`), failure.layout,
    ' ', make('span', {class: 'soft'}, failures ? start : 'the same cause')),
  make('div', {}, make('p', {}, failure.text), failure_facts(failure, failures),
    failure.replay && [make('h4', {}, 'Replay'), make('div', {class: 'copy'},
      make('pre', {class: 'wide'}, make('code', {}, failure.replay)), make('button', {type: 'button'}, 'Copy'))],
    failure.diff && diff_table(failure.diff),
    failure.reproducer && [make('h4', {}, 'The case'),
      make('pre', {class: 'ir'}, make('code', {}, failure.reproducer))]));
}

// Of one cause: the first failure says what is wrong, and the others that it is that again.
const cause_blocks = failures => failures.map((failure, i) => failure_block(failure, i ? null : failures));

function failures_section() {
  if (!report.failures.length) return null;
  const causes = new Map();
  for (const failure of report.failures) causes.set(failure.cause, [...causes.get(failure.cause) ?? [], failure]);
  return section('failures', 'Failures', make('p', {}, counted(report.failures.length, 'failure') + ' with ' +
    counted(causes.size, 'cause') + ', as far as their texts tell. Each was seen again in fresh processes and made as ' +
    'small as it would go, unless its text says otherwise.'), [...causes.values()].map(cause_blocks));
}

// ---- Ops and dtypes ----

const group_of = op => Math.max(0, GROUPS.findIndex(group =>
  group.ops.some(name => op === name || (name.endsWith('.') && op.startsWith(name)))));

function matrix(list) {
  const by_op = new Map();
  for (const cell of list) by_op.set(cell.op, (by_op.get(cell.op) ?? new Map()).set(cell.dtype, cell));
  const field = cell => cell ? make('td', {}, make('a', {class: LOOKS[cell.state][0],
    href: '#' + encodeURIComponent(printable(cell_id(cell))), ...filter_data(cell.op, cell.dtype, cell.state),
    'aria-label': `${cell.op} ${cell.dtype}: ${counts_text(cell.counts)}`},
  make('i', {'aria-hidden': 'true'}, LOOKS[cell.state][1]))) : make('td', {});
  return make('div', {class: 'scroll'}, table('matrix', [make('span', {class: 'skip'}, 'op'), ...dtypes],
    [...by_op].map(([op, fields]) =>
      make('tr', {}, make('th', {scope: 'row'}, op), dtypes.map(dtype => field(fields.get(dtype)))))));
}

function group_block(group, list) {
  const found = states(list), quiet = found.PASS === list.length;
  return make('details', {class: 'group ops', open: !(quiet && group.folds)}, make('summary', {}, group.name,
    make('span', {}, `${counted(list.length, 'cell')}, ${quiet ? 'all pass' : counts_text(found)}`)), matrix(list));
}

function matrix_section() {
  const lists = GROUPS.map(() => []);
  for (const cell of cells) lists[group_of(cell.op)].push(cell);
  const found = states(report.cells);
  return section('matrix', 'Ops and dtypes', make('p', {}, 'Each cell is an op on a dtype, over all layouts and values ' +
    'tried; its mark is the worst that happened. A cell leads to its numbers.'),
  make('ul', {class: 'legend'},
    Object.keys(LOOKS).filter(name => found[name]).map(name => make('li', {}, badge(name), LOOKS[name][2])),
    make('li', {}, 'empty: not a cell, or never reached')),
  GROUPS.map((group, i) => lists[i].length ? group_block(group, lists[i]) : null));
}

function table_section() {
  const names = ['op', 'dtype', 'result', 'cases', 'statuses', 'vacuous', 'worst ULP', 'at', 'layouts'];
  const rows = cells.map(cell => {
    const worst = number(cell.worst_ulp), numeral = text => make('td', {class: 'num'}, text);
    return make('tr', {id: cell_id(cell), class: 'filtered', ...filter_data(cell.op, cell.dtype, cell.state)},
      make('th', {scope: 'row'}, cell.op), make('td', {}, cell.dtype), make('td', {}, badge(cell.state), cell.state),
      numeral(grouped(cell.cases)), make('td', {}, statuses(cell)),
      numeral(cell.counts.VACUOUS ? (cell.vacuous_share * 100).toFixed(1) + '%' : ''),
      numeral(worst > 0 ? ulp_text(worst) : ''), make('td', {}, cell.worst_input),
      make('td', {}, Object.entries(cell.layouts).map(([layout, n]) => `${layout} ${n}`).join(', ')));
  });
  const list = table('list', names, rows);
  list.id = 'cells';
  return section('table', 'All cells', make('details', {class: 'card long'},
    make('summary', {}, 'Cases, statuses, worst errors and layouts of each'), make('div', {class: 'scroll'}, list)));
}

// ---- Accuracy ----

function largest_errors() {
  const list = cells.filter(cell => number(cell.worst_ulp) > 0)
    .sort((a, b) => number(b.worst_ulp) > number(a.worst_ulp) ? 1 : number(b.worst_ulp) < number(a.worst_ulp) ? -1 : 0);
  if (!list.length) return [];
  const rows = list.slice(0, MOST_ERRORS).map(cell =>
    make('tr', {class: 'filtered', ...filter_data(cell.op, cell.dtype, cell.state)}, make('th', {scope: 'row'}, cell.op),
      make('td', {}, cell.dtype), make('td', {class: 'num'}, ulp_text(number(cell.worst_ulp))),
      make('td', {}, cell.worst_input)));
  return [make('h3', {}, 'Largest errors', list.length > MOST_ERRORS ? `, the first ${MOST_ERRORS}` : ''),
    make('p', {}, 'Sums and graphs are judged by an interval around the value, not in ULP: where terms cancel, a large ' +
      'number here is right.'), carded(table('list', ['op', 'dtype', 'worst ULP', 'at'], rows))];
}

function accuracy_section() {
  const tried = report.cells.filter(cell => cell.ulps.length);
  const is_off = cell => cell.ulps.some(sample => number(sample.ulp) > 0);
  const off = tried.filter(is_off), bits = tried.filter(cell => !is_off(cell)).map(cell => `${cell.op} ${cell.dtype}`);
  const parts = [
    off.length ? [make('p', {}, 'The worst error found in each stretch of the operand, in units in the last place of the ' +
      'result, both axes logarithmic. The dashed line is what the declared profile allows; a triangle is an error beyond ' +
      'it.'), make('div', {class: 'plots'}, off.map(plot))] : [],
    bits.length ? make('p', {class: 'sub'}, `The reference's very bits at every operand tried: ${bits.join(', ')}.`) : [],
    largest_errors()].flat();
  return section('accuracy', 'Accuracy',
    parts.length ? parts : make('p', {}, 'No float op was tried, or none was off by a bit.'));
}

// ---- Facts ----

function profile_section() {
  const {declared, needed, looser, proposal} = report.profile;
  const rows = freedoms.map(freedom => row(freedom.kept, declared.includes(freedom.name) ? 'no: ' + freedom.declared : 'yes',
    needed.includes(freedom.name) ? 'made use of the freedom' : 'kept'));
  return section('profile', 'Numbers: declared and met',
    make('p', {}, 'Declares: ', make('b', {}, report.declaration), '.', looser.map(line => ` It ${line}.`)),
    looser.length ? make('p', {}, `The tightest profile that all ${counted(report.counts.PASS, 'passing case')} met: `,
      make('b', {}, proposal), '. Declaring it would let the core, and this tool, hold the device to more.') : null,
    carded(table('list prose', ['rule', 'declared', 'in passing cases'], rows)));
}

function calls_section() {
  if (!calls.length) return null;
  const rows = calls.map(cell => make('tr', {class: 'filtered', ...filter_data(cell.op, cell.dtype, cell.state)},
    make('th', {scope: 'row'}, cell.op), make('td', {}, badge(cell.state), LOOKS[cell.state][2]),
    make('td', {class: 'num'}, grouped(cell.cases)), make('td', {}, statuses(cell))));
  return section('calls', 'Calls of the plugin interface', make('p', {}, 'Rules of the ABI one by one, and random ' +
    'sequences of calls.'), carded(table('list', ['check', 'result', 'cases', 'statuses'], rows)));
}

function coverage_section() {
  const {possible, reached, pairs, pairs_reached, pairs_never_reached, dtypes_never_reached} = report.coverage;
  const measure = (part, whole, what) => whole ? make('p', {}, make('meter', {value: part, max: whole, 'aria-hidden': 'true'}),
    `${grouped(part)} of ${grouped(whole)} ${what} reached (${(100 * part / whole).toFixed(1)}%)`) : null;
  const count = missing => Object.values(missing).reduce((sum, names) => sum + names.length, 0);
  const folded = (title, missing) => Object.keys(missing).length ? make('details', {class: 'group'},
    make('summary', {}, title, make('span', {}, grouped(count(missing)))),
    make('ul', {class: 'names'}, Object.entries(missing).map(([op, names]) =>
      make('li', {}, make('code', {}, op), ' ', make('span', {class: 'soft'}, names.join(', ')))))) : null;
  const missing = count(dtypes_never_reached);
  return section('coverage', 'Coverage',
    measure(reached, possible, 'combinations of an op feeding another, dtype, layout and transform'),
    measure(pairs_reached, pairs, 'pairs of ops'),
    make('p', {}, missing ? `${counted(missing, 'cell')} of op and dtype never reached.` :
      'Every cell of op and dtype was reached.'),
    folded('Cells of op and dtype never reached', dtypes_never_reached),
    folded('Pairs of ops never reached: the first never fed', pairs_never_reached));
}

// A value of JSON as a person writes it.
function value_text(value) {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value === null) return 'not known';
  if (typeof value === 'bigint' || Number.isInteger(value)) return value >= 10000 ? grouped(value) : String(value);
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.map(value_text).join(', ') || 'none';
  return Object.entries(value).map(([key, item]) => `${words(key)} ${value_text(item)}`).join(', ') || 'none';
}
const is_object = value => typeof value === 'object' && value !== null && !Array.isArray(value);
// Objects, and lists of objects, have a heading of their own.
const has_own_table = value => is_object(value) || (Array.isArray(value) && is_object(value[0]));
const fact_table = facts => table('list wrap', [], facts.map(([name, value]) => row(name, value)));
const object_table = object => fact_table(Object.entries(object).filter(([, value]) => !has_own_table(value))
  .map(([key, value]) => [words(key), value_text(value)]));

// A list of objects: a row each, a column for each key of the first.
function list_table(rows) {
  const keys = Object.keys(rows[0]);
  return make('div', {class: 'scroll'}, table('list', keys.map(words), rows.map(one =>
    make('tr', {}, keys.map(key => make('td', {}, is_object(one) && key in one ? value_text(one[key]) : ''))))));
}

function declarations_section() {
  const facts = Object.entries(report.properties), title = 'What the plugin declares';
  if (!facts.length)
    return section('declarations', title, make('p', {}, `Nothing is known but: ${report.declaration}.`));
  return section('declarations', title, make('div', {class: 'card'}, object_table(report.properties)),
    make('div', {class: 'two'}, facts.filter(([, value]) => has_own_table(value)).map(([key, value]) =>
      make('div', {}, make('h3', {}, words(key)),
        make('div', {class: 'card'}, is_object(value) ? object_table(value) : list_table(value))))));
}

function environment_section() {
  const {tool, command, date, processor, system} = report.environment;
  const first = report.first_failure_seconds;
  const facts = {
    tool, command, date, processor, system,
    'plugin': report.plugin,
    'device': report.device,
    'seed': report.seed,
    'worker processes': report.jobs,
    'time': report.seconds.toFixed(1) + ' s',
    'rate': report.cases_per_second_per_core.toFixed(0) + ' cases per second and core',
    'digest of all results': report.digest,
    'first failure': first === null ? '' : `after ${first.toFixed(1)} s`,
  };
  return section('environment', 'Environment', make('div', {class: 'card'},
    fact_table(Object.entries(facts).filter(([, value]) => value !== ''))));
}

// ---- The page ----

function navigation(sections) {
  const names = {matrix: 'Ops and dtypes', profile: 'Numbers', calls: 'Calls', declarations: 'Declarations'};
  const order = ['failures', 'matrix', 'accuracy', 'profile', 'calls', 'coverage', 'declarations', 'environment', 'table'];
  const titles = new Map(sections.map(one => [one.firstChild.id, one.firstChild.textContent]));
  return make('nav', {'aria-label': 'Sections'}, order.filter(id => titles.has(id))
    .map(id => make('a', {href: '#' + id}, names[id] ?? titles.get(id))));
}

function filter_bar() {
  const option = (value, text = value) => make('option', {value}, text);
  const statuses = Object.keys(LOOKS).filter(name => report.counts[name]);
  return make('div', {class: 'filter', id: 'filter', role: 'search', 'aria-label': 'Filter cells'},
    make('label', {}, 'op ', make('input', {id: 'filter-op', type: 'search', placeholder: 'add, cast, …', autocomplete: 'off'})),
    make('label', {}, 'dtype ', make('select', {id: 'filter-dtype'}, option('', 'all'), dtypes.map(name => option(name)))),
    make('label', {}, 'status ', make('select', {id: 'filter-status'}, option('', 'all'), option('problem', 'any failure'),
      statuses.map(name => option(name)))),
    make('button', {type: 'button', id: 'filter-clear'}, 'Clear'),
    make('span', {class: 'soft', id: 'filter-count', 'aria-live': 'polite'}));
}

function draw_page() {
  const sections = [failures_section(), matrix_section(), accuracy_section(), profile_section(), calls_section(),
    coverage_section(), declarations_section(), environment_section(), table_section()].filter(one => one);
  document.querySelector('.sub').after(...tallies());
  document.querySelector('header').append(navigation(sections));
  document.querySelector('main').prepend(filter_bar(), ...sections);
}

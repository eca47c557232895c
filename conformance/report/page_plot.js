// The error over the operand, both on logarithmic axes, and what the profile allows.
const WIDTH = 320, HEIGHT = 170, LEFT = 34, RIGHT = 314, TOP = 10, BOTTOM = 146;
const COLUMNS = 140;  // of pixels that share a stroke
const LEAST_ULP = 0.25;
const GAP = 0.03, CHARACTER = 0.02;  // of labels, in widths of the axis
const clamp = value => Math.min(Math.max(value, 0), 1);
const power_text = power => power === 0 ? '1' : `1e${power}`;

// Operands on [0, 1]: zero in the middle, or at the left if none is negative.
function across_of(samples) {
  const finite = samples.filter(sample => Number.isFinite(sample.at)), powers = finite.filter(sample => sample.at)
    .map(sample => Math.log10(Math.abs(sample.at)));
  const negative = finite.some(sample => sample.at < 0);
  const low = Math.floor(powers.length ? Math.min(...powers) : -1) - 1;
  const high = Math.ceil((powers.length ? Math.max(...powers) : 1) + 1e-9);
  const share_of = at => {
    const share = at === 0 ? 0 : clamp((Math.log10(Math.abs(at)) - low) / (high - low));
    return negative ? 0.5 + (at < 0 ? -share : share) / 2 : share;
  };
  // Positions and labels of a few powers of ten, and of zero.
  const step = [200, 100, 50, 20, 10, 5, 2, 1].reduce((best, wide) =>
    (high - low) / wide <= (negative ? 4 : 6) ? wide : best, 200);
  const ticks = [];
  const add = (at, text) => {
    const share = share_of(at);
    if (!ticks.some(tick => Math.abs(tick.share - share) < GAP + CHARACTER * text.length)) ticks.push({share, text});
  };
  if (negative) add(0, '0');
  for (let power = Math.floor(high / step) * step; power > low; power -= step) {
    add(10 ** power, power_text(power));
    if (negative) add(-(10 ** power), '-' + power_text(power));
  }
  return {share_of, ticks};
}

// Errors on [0, 1]: 0 and what is under a quarter at the bottom, infinity at the top.
function up_of(samples) {
  const known = samples.flatMap(sample => [sample.ulp, sample.bound]).filter(value => value !== null && value < 1e12);
  const low = Math.log10(LEAST_ULP), high = Math.log10(Math.max(4, ...known)) + 0.15;
  const share_of = ulp => ulp > LEAST_ULP ? clamp((Math.log10(ulp) - low) / (high - low)) : 0;
  const ticks = [{share: 0, text: '0'}], step = high > 4 ? Math.ceil(high / 4) : 1;
  for (let power = 0; power < high; power += step)
    ticks.push({share: share_of(10 ** power), text: power < 4 ? String(10 ** power) : power_text(power)});
  return {share_of, ticks};
}

const x_of = share => LEFT + share * (RIGHT - LEFT);
const y_of = share => BOTTOM - share * (BOTTOM - TOP);
const fixed = value => value.toFixed(1);

const axes = (across, up) => [
  up.ticks.map(({share, text}) => [
    draw('path', {class: 'grid', d: `M${LEFT} ${fixed(y_of(share))}H${RIGHT}`}),
    draw('text', {x: LEFT - 5, y: fixed(y_of(share) + 3.5), 'text-anchor': 'end'}, text)]),
  across.ticks.map(({share, text}) => draw('text',
    {x: fixed(x_of(share)), y: BOTTOM + 15, 'text-anchor': share > 0.94 ? 'end' : 'middle'}, text))];

function curves(samples, across, up) {
  const columns = Array.from({length: COLUMNS}, () => ({ulp: -1, bound: -1})), over = [];
  for (const {ulp, at, bound} of samples) {
    const share = across.share_of(at), column = columns[Math.round(share * (COLUMNS - 1))];
    if (!column) continue;  // at NaN
    column.ulp = Math.max(column.ulp, ulp);
    if (bound === null) continue;
    column.bound = Math.max(column.bound, bound);
    if (ulp > bound)
      over.push(draw('path', {class: 'over', d: `M${fixed(x_of(share))} ${fixed(y_of(up.share_of(ulp)) - 3)}l4 7h-8z`},
        draw('title', {}, `${ulp_text(ulp)} ULP at ${at}, allowed ${ulp_text(bound)}`)));
  }
  let error = '', bound = '';
  columns.forEach((column, i) => {
    const x = fixed(x_of(i / (COLUMNS - 1)));
    if (column.ulp >= 0) error += `M${x} ${fixed(BOTTOM + 1)}V${fixed(y_of(up.share_of(column.ulp)) - 1)}`;
    if (column.bound < 0) return;
    const y = fixed(y_of(up.share_of(column.bound)));
    bound += bound ? `H${x}V${y}` : `M${x} ${y}`;
  });
  return [draw('path', {class: 'error', d: error}), draw('path', {class: 'bound', d: bound}), over];
}

function plot(cell) {
  const samples = cell.ulps.map(sample =>
    ({ulp: number(sample.ulp), at: number(sample.at), bound: number(sample.bound)}));
  const across = across_of(samples), up = up_of(samples), name = `${cell.op} ${cell.dtype}`;
  const worst = samples.reduce((most, sample) => sample.ulp > most.ulp ? sample : most);
  const said = `worst ${ulp_text(worst.ulp)} ULP at ${Number(Number(worst.at).toPrecision(6))}` +
    (worst.bound === null ? '' : `, allowed ${ulp_text(worst.bound)}`);
  return make('figure', {class: 'filtered', ...filter_data(cell.op, cell.dtype, cell.state)},
    make('figcaption', {}, make('b', {}, name), ' ', make('span', {class: 'soft'}, said)),
    draw('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img',
      'aria-label': `Error of ${name} in ULP over its operand: ${said}`}, axes(across, up), curves(samples, across, up)));
}

// What can be done with the page that is drawn.
draw_page();
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const by = id => document.getElementById(id);
const marks = all('.matrix td > a');

// The filter: by op, dtype and status, over the matrix, the table, the failures and the plots.
const op = by('filter-op'), dtype = by('filter-dtype'), status = by('filter-status');
const wanted = data => (!op.value || data.op.includes(op.value.trim().toLowerCase())) &&
  (!dtype.value || data.dtype === dtype.value) &&
  (!status.value || (status.value === 'problem' ? 'problem' in data : data.status === status.value));
const show = (element, is) => element.classList.toggle('hide', !is);
function filter() {
  const active = op.value || dtype.value || status.value;
  let shown = 0;
  for (const row of all('.matrix tbody tr')) {
    let any = false;
    for (const cell of all('a', row)) {
      const is = wanted(cell.dataset);
      cell.classList.toggle('dim', !is);
      any ||= is;
      shown += is;
    }
    show(row, any);
  }
  for (const group of all('.ops')) {
    const any = all('.matrix tbody tr:not(.hide)', group).length > 0;
    show(group, any);
    if (active && any && !group.open) {
      group.open = true;
      group.dataset.opened = '';
    } else if (!active && 'opened' in group.dataset) {
      group.open = false;
      delete group.dataset.opened;
    }
  }
  for (const element of all('.filtered')) show(element, wanted(element.dataset));
  by('filter-count').textContent = active ? `${shown} of ${marks.length} cells` : `${marks.length} cells`;
}
op.addEventListener('input', filter);
dtype.addEventListener('change', filter);
status.addEventListener('change', filter);
by('filter-clear').addEventListener('click', () => {
  op.value = dtype.value = status.value = '';
  filter();
  op.focus();
});
filter();

// A card beside the cell under the pointer, or with the focus: its row of the table.
const card = by('card');
const heads = all('#cells thead th').map(th => th.textContent);
function tell(cell) {
  const row = by(decodeURIComponent(cell.getAttribute('href').slice(1)));
  if (!row) return;
  card.replaceChildren();
  const title = document.createElement('b');
  title.textContent = cell.dataset.op + ' ' + cell.dataset.dtype;
  const list = document.createElement('dl');
  [...row.children].forEach((field, i) => {
    if (i < 2 || !field.textContent) return;
    list.append(Object.assign(document.createElement('dt'), {textContent: heads[i]}),
                Object.assign(document.createElement('dd'), {textContent: field.textContent}));
  });
  card.append(title, list);
  card.hidden = false;
  const at = cell.getBoundingClientRect(), width = document.documentElement.clientWidth;
  const above = at.bottom + card.offsetHeight + 12 > innerHeight && at.top > card.offsetHeight + 12;
  card.style.left = Math.max(8, Math.min(at.left, width - card.offsetWidth - 8)) + scrollX + 'px';
  card.style.top = (above ? at.top - card.offsetHeight - 6 : at.bottom + 6) + scrollY + 'px';
}
const quiet = () => { card.hidden = true; };
for (const cell of marks) {
  cell.tabIndex = -1;
  for (const event of ['mouseenter', 'focus']) cell.addEventListener(event, () => tell(cell));
  for (const event of ['mouseleave', 'blur']) cell.addEventListener(event, quiet);
}

// One stop of the tab key for each group; the arrows go on from there.
for (const table of all('.matrix')) {
  const first = table.querySelector('td > a');
  if (first) first.tabIndex = 0;
  table.addEventListener('keydown', event => {
    const step = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]}[event.key];
    if (event.key === 'Escape') quiet();
    if (!step || event.target.parentNode.tagName !== 'TD') return;
    event.preventDefault();
    const rows = [...table.tBodies[0].rows];
    let column = event.target.parentNode.cellIndex, row = rows.indexOf(event.target.closest('tr'));
    for (;;) {
      row += step[0];
      column += step[1];
      const field = rows[row] && rows[row].cells[column];
      if (!field || !column) return;
      const next = field.querySelector('a');
      if (!next || rows[row].classList.contains('hide') || next.classList.contains('dim')) continue;
      all('a[tabindex="0"]', table).forEach(one => { one.tabIndex = -1; });
      next.tabIndex = 0;
      next.focus();
      return;
    }
  });
}

for (const button of all('.copy button')) {
  button.addEventListener('click', async () => {
    const line = button.parentNode.querySelector('code');
    try {
      await navigator.clipboard.writeText(line.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(line);
      button.textContent = document.execCommand('copy') ? 'Copied' : 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
}

// What a link points to is opened; what is printed is opened too.
function open() {
  const target = location.hash && by(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  if (target) target.scrollIntoView();
}
addEventListener('hashchange', open);
open();
addEventListener('beforeprint', () => all('details:not(.long)').forEach(one => { one.open = true; }));

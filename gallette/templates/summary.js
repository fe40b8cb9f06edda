// The index of a summary. What is looked at (tab, filters, order) is the part of the address behind `#`,
// so that a view can be linked, and the browser's back button goes to the last one.
(() => {
  const { runs, results, groups, tests } = window.SUMMARY;
  const [NAME, GROUP, RESULTS, SECONDS, KIND, KNOWN, REASON, PAGE] = [0, 1, 2, 3, 4, 5, 6, 7];
  const STEP = 200, PASS = results.indexOf("pass"), SKIP = results.indexOf("skip"), NOTRUN = results.indexOf("notrun");
  const bad = (r) => r !== PASS && r !== SKIP && r !== NOTRUN;
  const last = (row) => row[RESULTS][row[RESULTS].length - 1];
  const tabs = {
    all: ["all", () => true],
    problems: ["problems", (row) => row[RESULTS].some(bad)],
    regressions: ["regressions", (row) => row[KIND] === "regression"],
    fixes: ["fixes", (row) => row[KIND] === "fix"],
    changes: ["other changes", (row) => row[KIND] === "changed"],
    skips: ["skips", (row) => row[RESULTS].includes(SKIP)],
    known: ["known failures", (row) => row[KNOWN] !== ""],
    versions: ["by version", null],
  };
  const columns = [
    ["test", "name", (row) => row[NAME]],
    ...runs.map((run, i) => [run, "run" + i, (row) => row[RESULTS][i]]),
    ["seconds", "seconds", (row) => row[SECONDS]],
    ["why", "why", (row) => row[KNOWN] || row[REASON]],
  ];
  const $ = (id) => document.getElementById(id);
  const make = (tag, text = "", name = "") => Object.assign(document.createElement(tag), { textContent: text, className: name });
  const counts = Object.fromEntries(Object.entries(tabs).map(([k, [, keep]]) => [k, keep ? tests.filter(keep).length : 0]));
  const first = ["regressions", "problems", "all"].find((tab) => counts[tab]) || "all";
  let shown = STEP;

  function state() {
    const found = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    return { tab: first, q: "", group: "", result: "", sort: "", dir: "up", ...found };
  }
  function go(change) {
    const next = { ...state(), ...change };
    const kept = Object.entries(next).filter(([k, v]) => v && !(k === "dir" && v === "up") && !(k === "tab" && v === first));
    shown = STEP;
    history[change.q === undefined ? "pushState" : "replaceState"](null, "", "#" + new URLSearchParams(kept));
    draw();
  }
  function chosen(now) {
    const [, keep] = tabs[now.tab] || tabs.all, words = now.q.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = tests.filter((row) => (!keep || keep(row)) && (!now.group || groups[row[GROUP]] === now.group)
      && (!now.result || results[last(row)] === now.result)
      && words.every((w) => row[NAME].toLowerCase().includes(w) || row[REASON].toLowerCase().includes(w)));
    const column = columns.find(([, key]) => key === now.sort);
    if (column) {
      const sign = now.dir === "down" ? -1 : 1;
      rows.sort((a, b) => { const x = column[2](a), y = column[2](b); return sign * (x < y ? -1 : x > y ? 1 : 0); });
    }
    return rows;
  }
  function badge(result, known) {
    const one = make("span", results[result], "badge " + results[result]);
    const cell = make("td");
    cell.append(one);
    if (known && bad(result)) cell.append(make("span", " known", "faint"));
    return cell;
  }
  function line(row) {
    const tr = make("tr"), name = make("td");
    if (row[PAGE]) name.append(Object.assign(make("a", row[NAME]), { href: row[PAGE] }));
    else name.textContent = row[NAME];
    tr.append(name);
    row[RESULTS].forEach((r, i) => { const cell = badge(r, row[KNOWN]); cell.dataset.label = runs[i]; tr.append(cell); });
    const seconds = make("td", row[SECONDS].toFixed(2), "n"), why = make("td", "", "reason faint");
    seconds.dataset.label = "seconds";
    if (row[KNOWN]) why.append(make("b", "known: " + row[KNOWN]), make("br"));
    why.append(row[REASON]);
    tr.append(seconds, why);
    return tr;
  }
  function draw() {
    const now = state(), versions = now.tab === "versions";
    $("tests").hidden = versions; $("versions").hidden = !versions;
    for (const tab of $("tabs").children) tab.setAttribute("aria-selected", tab.dataset.tab === now.tab);
    if (document.activeElement !== $("query")) $("query").value = now.q;
    $("group").value = now.group; $("result").value = now.result;
    const head = $("rows").tHead.rows[0];
    head.replaceChildren(...columns.map(([title, key]) => {
      const th = make("th", "", key === "seconds" ? "n" : ""), button = make("button", title, "sort");
      button.type = "button";
      th.setAttribute("aria-sort", now.sort !== key ? "none" : now.dir === "down" ? "descending" : "ascending");
      if (now.sort === key) button.append(now.dir === "down" ? " ▾" : " ▴");
      button.addEventListener("click", () => go({ sort: key, dir: now.sort === key && now.dir === "up" ? "down" : "up" }));
      th.append(button);
      return th;
    }));
    const rows = chosen(now);
    $("rows").tBodies[0].replaceChildren(...rows.slice(0, shown).map(line));
    $("count").textContent = `${rows.length} of ${tests.length} tests`;
    $("more").hidden = rows.length <= shown;
    $("more").textContent = `${Math.min(STEP, rows.length - shown)} more of ${rows.length - shown}`;
  }
  for (const [tab, [title]] of Object.entries(tabs)) {
    if (tab !== "versions" && tab !== "all" && !counts[tab]) continue;
    const one = make("button", tab === "versions" ? title : `${title} ${counts[tab]}`);
    Object.assign(one, { type: "button" }).dataset.tab = tab;
    one.setAttribute("role", "tab");
    one.addEventListener("click", () => go({ tab }));
    $("tabs").append(one);
  }
  const used = new Set(tests.map((row) => row[GROUP])), ends = new Set(tests.map(last));
  groups.forEach((group, i) => { if (used.has(i)) $("group").append(new Option(group, group)); });
  results.forEach((result, i) => { if (ends.has(i)) $("result").append(new Option(result, result)); });
  $("query").addEventListener("input", () => go({ q: $("query").value }));
  $("group").addEventListener("change", () => go({ group: $("group").value }));
  $("result").addEventListener("change", () => go({ result: $("result").value }));
  $("more").addEventListener("click", () => { shown += STEP; draw(); });
  addEventListener("popstate", draw);
  addEventListener("hashchange", draw);
  draw();
})();

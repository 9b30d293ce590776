"use strict";
// Shares the difference in time between two results out among its causes, as mlsub compare does: by the same formulas
// (mlsub/commands/compare/trainings/decompose.py) and in the same words. The figures are those of data/compare.js.
(() => {
  const TIMED = ["start", "training", "before_evaluation", "evaluation", "pauses", "end", "undivided"];
  const INSIDE = ["training", "before_evaluation", "evaluation", "pauses"];
  const MINUTE = 60000;
  const LEAST = 1e-9;
  // Counts further apart than this factor count different things, such as epochs and samples under one name.
  const OTHER_UNIT = 1000;

  // Numbers as Python writes them: of two that are as near the even one, and few digits without trailing zeros.
  const fixed = (value, digits) => {
    const exact = Math.abs(value).toFixed(digits + 40);
    const cut = exact.length - 40;
    if (!/^50*$/.test(exact.slice(cut))) return value.toFixed(digits);
    const below = exact.slice(0, cut).replace(/\.$/, "");
    const even = "02468".includes(below.at(-1)) ? below : Math.abs(value).toFixed(digits);
    return value < 0 ? `-${even}` : even;
  };
  const signed = (value, digits) => (value < 0 || Object.is(value, -0) ? "" : "+") + fixed(value, digits);
  const general = (value, digits) => {
    if (!value) return "0";
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    const places = Number(exponent);
    if (places >= -4 && places < digits) return String(Number(value.toPrecision(digits)));
    return `${Number(mantissa)}e${places < 0 ? "-" : "+"}${String(Math.abs(places)).padStart(2, "0")}`;
  };
  const grouped = (value) => fixed(value, 0).replace(/\B(?=(\d{3})+$)/g, ",");
  const amount = (value) => (value >= 1000 ? grouped(value) : general(value, 6));
  const rate = (value) => (value >= 100 ? grouped(value) : general(value, 3));

  // Of a product, each factor gets its change at the mean of all orders in which the factors can change.
  const orders = (places) =>
    places.length ? places.flatMap((first) => orders(places.filter((one) => one !== first)).map((rest) => [first, ...rest])) : [[]];
  const shares = (old, now) => {
    const found = old.map(() => 0);
    const all = orders(old.map((_, at) => at));
    for (const order of all) {
      const factors = [...old];
      for (const at of order) {
        const others = factors.reduce((product, factor, place) => (place === at ? product : product * factor), 1);
        found[at] += others * (now[at] - old[at]);
        factors[at] = now[at];
      }
    }
    return found.map((share) => share / all.length);
  };

  const part = (name, old, now, unit, ms, per = 1) => ({ name, old: old / per, new: now / per, unit, minutes: ms / MINUTE, of: null });

  // Mean phases of both, as finely as both tell them apart.
  const groupsOf = (old, now) => {
    if (!old.training || !now.training) return { run: TIMED };
    const logged = [old.evaluation, now.evaluation];
    if (logged.includes("some") || logged[0] !== logged[1]) return { start: ["start"], inside: INSIDE, end: ["end"] };
    const without = logged[0] === "none" ? ["evaluation", "before_evaluation", "undivided"] : ["undivided"];
    return Object.fromEntries(TIMED.filter((name) => !without.includes(name)).map((name) => [name, [name]]));
  };
  const means = (side, groups) =>
    Object.fromEntries(
      Object.entries(groups).map(([group, names]) => [
        group, names.reduce((sum, name) => sum + side.spent[TIMED.indexOf(name)], 0) / side.count,
      ]),
    );

  const meanWork = ({ work, count }) => (work && work[1] >= LEAST ? work[0] / count : null);
  const works = (old, now) => {
    const [one, other] = [meanWork(old), meanWork(now)];
    if (!one || !other) return null;
    const known = old.samples && now.samples;
    const alike = old.unit === now.unit && (!known || old.samples === now.samples);
    if (!alike && !known) return null;
    const both = alike
      ? { one, other, unit: old.unit }
      : { one: one * old.samples, other: other * now.samples, unit: "samples" };
    return Math.max(both.one, both.other) > OTHER_UNIT * Math.min(both.one, both.other) ? null : both;
  };

  // The time of training as work times pace, and times the number of accelerators where that differs.
  const trained = (was, is, old, now, factor) => {
    const both = works(old, now);
    if (!both) return null;
    const { one, other, unit } = both;
    const each = unit.slice(0, -1);
    const names = ["work", "pace"];
    const units = [unit, `s per ${each}`];
    const before = [one, was / one];
    const after = [other, is / other];
    if (old.accelerators && now.accelerators && old.accelerators !== now.accelerators) {
      before[1] *= old.accelerators;
      after[1] *= now.accelerators;
      units[1] = `accelerator-s per ${each}`;
      names.push("accelerators");
      units.push("accelerators");
      before.push(1 / old.accelerators);
      after.push(1 / now.accelerators);
    }
    const found = shares(before, after);
    return names.map((name, at) => {
      const values = name === "accelerators" ? [old.accelerators, now.accelerators] : [before[at], after[at]];
      return part(name, ...values, units[at], found[at] * factor, name === "pace" ? 1000 : 1);
    });
  };

  const decompose = (old, now) => {
    const groups = groupsOf(old, now);
    const [ours, theirs] = [means(old, groups), means(now, groups)];
    const factor = (old.scaling + now.scaling) / 2;
    const parts = [];
    for (const name of Object.keys(groups)) {
      const split = ["training", "inside", "run"].includes(name) && trained(ours[name], theirs[name], old, now, factor);
      if (split) parts.push(...split.map((one) => ({ ...one, of: one.name === "pace" ? name : null })));
      else parts.push(part(name, ours[name], theirs[name], "s", (theirs[name] - ours[name]) * factor, 1000));
    }
    if (old.scaling !== now.scaling) {
      const sum = (side) => Object.values(side).reduce((one, other) => one + other, 0);
      parts.push(part("scaling", old.scaling, now.scaling, "times", ((sum(ours) + sum(theirs)) / 2) * (now.scaling - old.scaling)));
    }
    return parts;
  };

  // What most runs of each logged, where that differs.
  const loggedBy = (at) => {
    const { keys, values, sets, rows } = window.mlsubCompare.logged;
    const [set, ...found] = rows[at];
    return new Map(sets[set].map((key, place) => [keys[key], { key, at: found[place], text: values[key][found[place]] ?? null }]));
  };
  const differences = (a, b) => {
    const [before, after] = [loggedBy(a), loggedBy(b)];
    const names = [...new Set([...before.keys(), ...after.keys()])];
    const settled = (one) => one === undefined || one.at >= 0;
    const both = names.filter((name) => settled(before.get(name)) && settled(after.get(name)));
    const same = both.filter((name) => before.get(name)?.at === after.get(name)?.at);
    const changes = both.filter((name) => !same.includes(name)).sort();
    const text = (side, name) => side.get(name)?.text ?? null;
    return { same: same.length, changes: changes.map((name) => ({ name, old: text(before, name), new: text(after, name) })) };
  };

  // The words.
  const words = (name) => window.mlsubCompare.phases[name];
  const pace = (one, old, now) => {
    const each = `per ${one.unit.slice(one.unit.lastIndexOf(" ") + 1)}${one.unit.startsWith("accelerator") ? " and accelerator" : ""}`;
    const what = words(one.of ?? "training");
    if (!one.new || !one.old || one.old === one.new) return `${what} as fast ${each}`;
    const speed = one.old / one.new;
    const faster = speed > 1 ? `${fixed((speed - 1) * 100, 1)} % faster` : `${fixed((1 - speed) * 100, 1)} % slower`;
    const rates = old.throughput && now.throughput && one.of === "training";
    return `${what} ${faster} ${each}${rates ? `: ${rate(old.throughput)} -> ${rate(now.throughput)} samples/s` : ""}`;
  };
  const partWords = (one, old, now) => {
    if (one.name === "work") {
      const more = one.new < one.old ? "fewer" : one.new === one.old ? "as many" : "more";
      return `${more} ${one.unit} ${amount(one.old)} -> ${amount(one.new)}`;
    }
    if (one.name === "pace") return pace(one, old, now);
    if (one.name === "accelerators") return `accelerators ${fixed(one.old, 0)} -> ${fixed(one.new, 0)}`;
    if (one.name === "scaling") return `scaling ${general(one.old, 6)} -> ${general(one.new, 6)}`;
    return `${words(one.name)} ${fixed(one.old, 1)} s -> ${fixed(one.new, 1)} s`;
  };
  const headWords = (one, other) => {
    const times = `${fixed(one, 6)} -> ${fixed(other, 6)} min`;
    if (one === other) return `B takes as long as A (${times})`;
    if (Math.min(one, other) <= 0) return `The times are ${times}`;
    const percent = (Math.abs(other - one) / one) * 100;
    return `B is ${fixed(percent, 1)} % ${other < one ? "shorter" : "longer"} (${fixed(one / other, 2)}x, ${times})`;
  };
  // Parts that are small beside the time and beside the difference are shown together.
  const sumOf = (parts) => parts.reduce((sum, { minutes }) => sum + minutes, 0);
  const sorted = (parts, time) => {
    const least = Math.max(0.002 * time, 0.02 * Math.abs(sumOf(parts)));
    const large = parts.filter(({ minutes }) => Math.abs(minutes) >= least && least > 0);
    return { large, rest: sumOf(parts.filter((one) => !large.includes(one))) };
  };
  const becauseOf = (parts, time, old, now) => {
    const { large, rest } = sorted(parts, time);
    large.sort((one, other) => Math.abs(other.minutes) - Math.abs(one.minutes));
    const shown = large.map((one) => `${partWords(one, old, now)} (${signed(one.minutes, 2)} min)`);
    if (large.length && large.length < parts.length) shown.push(`all else ${signed(Number(fixed(rest, 2)) + 0, 2)} min`);
    return shown.join(", ");
  };
  const changeWords = (changes) => {
    if (!changes.length) return "";
    const short = (text) => (text === null ? "-" : [...text].length <= 40 ? text : `${[...text].slice(0, 39).join("")}…`);
    const telling = ["global_batch_size", "opt_name"].map((name) => changes.find((one) => one.name === name)).filter(Boolean);
    const named = telling.map((one) => `${one.name} ${short(one.old)} -> ${short(one.new)}`);
    const rest = changes.length - telling.length;
    if (rest) named.push(`${rest} ${telling.length ? "more " : ""}logged value${rest > 1 ? "s" : ""}`);
    return ` Also different: ${named.join(", ")}.`;
  };
  const answer = (old, now, parts, undivided, changes) => {
    if (old.minutes === null || now.minutes === null) {
      const without = [["A", old], ["B", now]].filter(([, side]) => side.minutes === null).map(([name]) => name);
      return `${without.join(" and ")} ${without.length > 1 ? "have" : "has"} no time to compare.${changeWords(changes)}`;
    }
    const head = headWords(old.minutes, now.minutes);
    const because = undivided ? "" : becauseOf(parts, Math.max(old.minutes, now.minutes), old, now);
    const times = undivided ? `${head}. Not divided: ${undivided}.` : because ? `${head}: ${because}.` : `${head}.`;
    return times + changeWords(changes);
  };

  const beside = (old, now) => {
    const { held, beside: known } = window.mlsubCompare;
    const [one, other] = [held[old.held], held[now.held]];
    if (one[0] !== other[0] || benchmark(old) !== benchmark(now)) {
      const named = ([usage, round, , title]) => `${title} (${usage} v${round})`;
      return { different: true, compatible: "no", warning: `${named(one)} and ${named(other)} are different benchmarks` };
    }
    const [compatible, warning] = known[`${old.held} ${now.held}`] ?? ["yes", null];
    return { different: false, compatible, warning };
  };
  const benchmark = ({ held }) => window.mlsubCompare.held[held][2];

  const sideOf = (at) => {
    const { fields, sides } = window.mlsubCompare;
    return Object.fromEntries(fields.map((name, place) => [name, sides[at][place]]));
  };

  // Two results by their places in the site: A is old, B is new.
  const compare = (a, b) => {
    const [old, now] = [sideOf(a), sideOf(b)];
    const { different, compatible, warning } = beside(old, now);
    const untimed = old.minutes === null || now.minutes === null;
    const undivided = different
      ? "they train different benchmarks"
      : (old.why ?? now.why ?? (untimed ? "one of them has no time" : null));
    const parts = undivided ? [] : decompose(old, now);
    const ratio = old.minutes > 0 && now.minutes > 0 ? old.minutes / now.minutes : null;
    const { same, changes } = differences(a, b);
    return {
      old, new: now, ratio, reduction: ratio === null ? null : 1 - 1 / ratio, parts, undivided, same, hyperparameters: changes,
      compatible, warning, answer: answer(old, now, parts, undivided, changes),
    };
  };

  window.mlsubDecompose = { compare, partWords, sorted, signed, amount, rate, fixed };
})();

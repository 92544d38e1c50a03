// Which model answers, and how full the context is.

import { useEffect, useRef, useState } from "preact/hooks";
import type { ModelEntry, ModelPrice, Usage } from "../wire/types";
import { chooseModel } from "./doing";
import { escapes } from "./focus";
import { useStore, useView } from "./use";

const CONNECT = "\u0000connect";

export function ModelPicker() {
  const store = useStore();
  const { model, sessionId, server } = useView(({ session, state, server }) => ({
    model: session?.config.model ?? state.model ?? "",
    sessionId: session?.sessionId,
    server: server.state,
  }));
  const [models, setModels] = useState<ModelEntry[]>([]);
  const load = (): void => {
    if (server !== "running") return;
    // A list that does not come leaves the model that is used, and is no news.
    store.call("turnbuckle/models", {}).then(
      (found) => setModels(found.models),
      () => undefined,
    );
  };
  useEffect(load, [server, sessionId]);
  const known = models.some((one) => one.name === model);
  const providers = [...new Set(models.map((one) => one.provider))];
  const passing = useRef(false);
  const pick = async (select: HTMLSelectElement): Promise<void> => {
    if (select.value === model) return;
    if (select.value === CONNECT) store.do({ do: "connect" });
    else if (await chooseModel(store, select.value)) return;
    // What was not taken is not shown as if it were.
    select.value = store.view.session?.config.model ?? model;
  };
  // A closed list changes with each arrow key: one that only passes by is not chosen.
  const key = (event: KeyboardEvent & { currentTarget: HTMLSelectElement }): void => {
    if (event.key === "Enter") return void pick(event.currentTarget);
    if (escapes(event)) {
      event.currentTarget.value = model;
      return store.focus();
    }
    passing.current = true;
    setTimeout(() => (passing.current = false));
  };
  const leave = (select: HTMLSelectElement): void => {
    if (select.value === CONNECT) select.value = model;
    void pick(select);
  };
  return (
    <select
      class="model"
      aria-label="Model"
      title={`Model: ${model || "none"}`}
      value={model}
      onFocus={load}
      onKeyDown={key}
      onChange={(event) => void (passing.current || pick(event.currentTarget))}
      onBlur={(event) => leave(event.currentTarget)}
    >
      {!known && <option value={model}>{model || "No model"}</option>}
      {providers.map((provider) => (
        <optgroup key={provider} label={provider}>
          {models
            .filter((one) => one.provider === provider)
            .map((one) => (
              <option key={one.name} value={one.name} disabled={one.unavailable !== undefined}>
                {one.unavailable === undefined ? one.name : `${one.name} (${one.unavailable})`}
              </option>
            ))}
        </optgroup>
      ))}
      <option value={CONNECT}>Connect a model…</option>
    </select>
  );
}

/** How full the context is, and what the session has cost where prices are known. */
export function Meter() {
  const { used, window, usage, price } = useView(({ state, session }) => ({
    used: state.context,
    window: state.window ?? session?.config.window,
    usage: state.usage,
    price: session?.config.price,
  }));
  if (!usage && used === undefined) return <span class="meter" />;
  const share = window && used !== undefined ? Math.min(1, used / window) : undefined;
  const spent = price && usage ? money(cost(usage, price), price.currency) : undefined;
  const shown =
    share !== undefined
      ? `${Math.round(share * 100)} %`
      : used !== undefined
        ? `${short(used)} tokens`
        : "";
  const detail = [
    ...(used === undefined
      ? []
      : [
          `${used.toLocaleString()}${window ? ` of ${window.toLocaleString()}` : ""} tokens in the context`,
        ]),
    ...(usage ? [`${usage.total.toLocaleString()} in the session`] : []),
    ...(spent === undefined ? [] : [spent]),
  ].join("; ");
  return (
    <span class="meter" role="img" aria-label={detail} title={detail}>
      {share !== undefined && (
        <progress class={share > 0.8 ? "full" : ""} max={1} value={share} aria-hidden="true" />
      )}
      <span>{shown}</span>
      {spent !== undefined && (
        <span class="cost">
          {shown && "· "}
          {spent}
        </span>
      )}
    </span>
  );
}

export function cost(usage: Usage, price: ModelPrice): number {
  const cached = Math.min(usage.cached ?? 0, usage.input);
  const kept = price.cached ?? price.input;
  return ((usage.input - cached) * price.input + cached * kept + usage.output * price.output) / 1e6;
}

function short(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
}

/** In the person's way of writing money; a currency that is none is put behind the number. */
export function money(amount: number, currency: string): string {
  const digits = { maximumFractionDigits: amount < 1 ? 3 : 2 };
  try {
    return amount.toLocaleString([], { style: "currency", currency, ...digits });
  } catch {
    return `${amount.toLocaleString([], digits)} ${currency}`;
  }
}

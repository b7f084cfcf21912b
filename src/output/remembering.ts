/** The same function, which does not do its work again for the value that it was given last. */
export function remembering<V, R>(work: (value: V) => R): (value: V) => R {
  let last: { readonly value: V; readonly result: R } | undefined;
  return (value) => {
    if (last === undefined || last.value !== value) last = { value, result: work(value) };
    return last.result;
  };
}

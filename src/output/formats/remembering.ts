/** The same function, which does not do its work again for the value that it was given last. */
export function remembering<V, R>(work: (value: V) => R): (value: V) => R {
  let value: V | undefined;
  let result: R | undefined;
  let isFirst = true;
  return (given) => {
    if (given === value && !isFirst) return result as R;
    isFirst = false;
    value = given;
    result = work(given);
    return result;
  };
}

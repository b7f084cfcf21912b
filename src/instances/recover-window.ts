/** Milliseconds by which this computer's clock and the service's may differ without anybody's word. */
const SKEW = 5 * 60_000;

/** Milliseconds after which a request counts as lost, though its process still waits for it. */
const LATEST = 3_600_000;

/** Milliseconds by which a clock may be wrong for all that is known: a wrong time zone makes 14 hours. */
const DOUBT = 24 * 3_600_000;

/**
 * How far the service's clock is from this computer's, by the Date headers of its answers. How far it
 * was when the request was made nobody knows: either may have been set since. So it only widens the
 * time in which a thing may have come of a request, to either side, and narrows it at none.
 */
export class ServiceClock {
  readonly #now: () => number;
  #told: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The latest one counts: an answer that was kept on its way, or was slow, tells too early a time. */
  hear(date: string | undefined): void {
    const told = Date.parse(date ?? '') - this.#now();
    if (!Number.isNaN(told)) this.#told = Math.max(told, this.#told ?? told);
  }

  /** Milliseconds by which it is before this computer's; less than none where it is behind. */
  get ahead(): number {
    return this.#told ?? 0;
  }
}

/** Whether a thing is no older than a request, so that it may have come of it. */
export function isSince(
  created: string | null | undefined,
  asked: string,
  { ahead }: Pick<ServiceClock, 'ahead'>,
): boolean {
  return created != null && Date.parse(created) >= Date.parse(asked) - SKEW + Math.min(0, ahead);
}

/** Whether it is of the time of the request, and not of a day long after it either. */
export function isOfTheTime(
  created: string | null | undefined,
  asked: string,
  service: Pick<ServiceClock, 'ahead'>,
): boolean {
  const latest = Date.parse(asked) + LATEST + Math.max(0, service.ahead);
  return isSince(created, asked, service) && Date.parse(created ?? '') <= latest;
}

/** Whether a thing seems older than a request by no more than a clock can be wrong, or by who knows what. */
export function isMaybeSince(created: string | null | undefined, asked: string): boolean {
  const time = Date.parse(created ?? '');
  return Number.isNaN(time) || time >= Date.parse(asked) - DOUBT;
}

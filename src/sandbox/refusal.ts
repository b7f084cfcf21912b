import { STATUS_CODES } from 'node:http';

/**
 * An error response of the service (API document: Errors). Changes made before the refusal (events
 * of a rollback, a used fault) are kept.
 */
export class Refusal extends Error {
  readonly status: number;
  readonly shape: 'A' | 'B';

  constructor(status: number, message: string, shape: 'A' | 'B' = 'A') {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.shape = shape;
  }
}

export function badRequest(message: string): Refusal {
  return new Refusal(400, message);
}

export function notFound(message: string): Refusal {
  return new Refusal(404, message);
}

export function conflict(message: string): Refusal {
  return new Refusal(409, message);
}

export function providerFailure(message: string): Refusal {
  return new Refusal(500, message);
}

/** Returns Shape A, or Shape B for an unknown SSH key (API document: Errors). */
export function refusalBody(refusal: Refusal): Record<string, unknown> {
  return refusal.shape === 'B'
    ? { statusCode: refusal.status, code: 'NOT_FOUND', message: refusal.message }
    : {
        statusCode: refusal.status,
        message: refusal.message,
        error: STATUS_CODES[refusal.status],
      };
}

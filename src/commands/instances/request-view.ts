import type { CreateInstanceBody } from '../../api/index.ts';
import type { View } from '../../output/output.ts';

/** The request that `--dry-run` shows instead of sending it. */
export const createRequestView: View<CreateInstanceBody> = {
  columns: [
    { id: 'instance_name', header: 'NAME', value: (r) => r.instance_name },
    { id: 'offer_id', header: 'OFFER', value: (r) => r.offer_id },
    { id: 'image_id', header: 'IMAGE', value: (r) => r.image_id },
  ],
  id: () => null,
  empty: 'There is no request.',
  sections: [
    {
      heading: 'POST /instances (not sent)',
      lines: (r) =>
        Object.entries(r).map(([label, value]) => ({
          label,
          value: typeof value === 'string' ? value : JSON.stringify(value),
        })),
    },
  ],
  secrets: ['docker_config.env[].value'],
};

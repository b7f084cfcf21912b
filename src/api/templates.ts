import type { Run } from './calls/call.ts';
import { getData } from './calls/perform.ts';
import type { CallOptions } from './contract.ts';
import { type Template, templates } from './schemas/template.ts';

export function templatesApi(run: Run) {
  return {
    /** All available templates (API document: Endpoints, GET /templates). */
    list: (options?: CallOptions): Promise<Template[]> =>
      run(options, (call) =>
        getData(call, { heading: 'GET /templates', doing: 'to list the templates' }, templates),
      ),
  };
}

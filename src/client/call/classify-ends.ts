import type { Failure } from '../../core/failure.ts';
import type { RunRequestOptions } from '../../engine/request-run.ts';
import { fieldValues } from '../../http1/field-list.ts';
import type { ResponseHead } from '../../http1/message.ts';
import type { AttemptEnd, Classifier } from '../classifier.ts';
import { NO_HEADERS } from '../classifier.ts';

/** A classifier as the loop asks it: about heads and failures of one request. */
export function classifyEnds(
  classify: Classifier,
  method: string,
  url: URL,
): NonNullable<RunRequestOptions['classify']> {
  const uri = url.hash === '' ? url.href : url.href.slice(0, -url.hash.length);
  return (head: ResponseHead | undefined, failure: Failure | undefined) =>
    classify({ method, uri, status: head?.status, headers: headersOf(head), failure });
}

function headersOf(head: ResponseHead | undefined): AttemptEnd['headers'] {
  if (head === undefined) return NO_HEADERS;
  return {
    get(name) {
      const values = fieldValues(head.fields, name);
      return values.length === 0 ? null : values.join(', ');
    },
  };
}

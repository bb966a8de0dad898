/** Export of traces with the OpenTelemetry SDK. No class outside of this package uses the SDK. */
@NullMarked
package io.millrace.worker.traces;

import org.jspecify.annotations.NullMarked;

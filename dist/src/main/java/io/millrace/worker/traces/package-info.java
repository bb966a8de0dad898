/** Export of traces: encodes spans for OTLP and sends them to a collector. */
@NullMarked
package io.millrace.worker.traces;

import org.jspecify.annotations.NullMarked;

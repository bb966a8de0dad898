/**
 * The warm-up of a worker. A second proxy in the same JVM serves requests of a built-in client from a built-in origin.
 * So the JIT compilers have compiled the request paths before the worker accepts clients.
 */
@NullMarked
package io.millrace.worker.warmup;

import org.jspecify.annotations.NullMarked;

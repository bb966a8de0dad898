/**
 * The warm-up of a worker: a second proxy in the same JVM serves requests of a built-in client from a built-in origin, so that
 * the JIT compilers have compiled the paths of requests before the worker accepts a client.
 */
@NullMarked
package io.millrace.worker.warmup;

import org.jspecify.annotations.NullMarked;

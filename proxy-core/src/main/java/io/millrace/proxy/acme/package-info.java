/**
 * The worker's part of automatically issued certificates (ACME): answers to challenges, and requests for certificates
 * on demand.
 */
@NullMarked
package io.millrace.proxy.acme;

import org.jspecify.annotations.NullMarked;

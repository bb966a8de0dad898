/** The worker's part of automatic certificates (ACME): answers to challenges, and names that wait for a certificate. */
@NullMarked
package io.millrace.proxy.acme;

import org.jspecify.annotations.NullMarked;

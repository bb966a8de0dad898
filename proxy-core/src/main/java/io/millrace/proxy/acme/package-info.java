/** The worker's part of ACME: answers to challenges, and requests for certificates on demand. */
@NullMarked
package io.millrace.proxy.acme;

import org.jspecify.annotations.NullMarked;

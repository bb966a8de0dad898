/** Responses to clients, stored, partial or generated: step 8 of the request path in docs/ARCHITECTURE.md. */
@NullMarked
package io.millrace.proxy.serve;

import org.jspecify.annotations.NullMarked;

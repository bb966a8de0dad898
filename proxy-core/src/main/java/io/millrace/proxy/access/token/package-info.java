/** Verification of JSON Web Tokens off the event loops, and the results that are remembered. */
@NullMarked
package io.millrace.proxy.access.token;

import org.jspecify.annotations.NullMarked;

/** Settings of the proofs that requests need: signatures of URLs, and passwords. */
@NullMarked
package io.millrace.proxy.config.guard;

import org.jspecify.annotations.NullMarked;

/** Step 10: one origin body flowing to every waiting client and into the store at the same time. */
@NullMarked
package io.millrace.proxy.fill;

import org.jspecify.annotations.NullMarked;

/** Checks of settings against each other and against the machine, beyond the checks of single values. */
@NullMarked
package io.millrace.proxy.config.check;

import org.jspecify.annotations.NullMarked;

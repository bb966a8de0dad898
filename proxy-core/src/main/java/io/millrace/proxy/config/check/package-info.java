/** Checks of settings against each other and against the machine. */
@NullMarked
package io.millrace.proxy.config.check;

import org.jspecify.annotations.NullMarked;

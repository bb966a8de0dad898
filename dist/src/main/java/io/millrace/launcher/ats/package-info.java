/**
 * Imports a configuration directory of Traffic Server into a single {@code millrace.yaml}. Every line is listed in a
 * report, with the resulting keys or the reason why there are none. Nothing in this package starts, binds or changes
 * anything.
 */
@NullMarked
package io.millrace.launcher.ats;

import org.jspecify.annotations.NullMarked;

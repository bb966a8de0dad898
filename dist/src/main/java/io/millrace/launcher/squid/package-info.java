/**
 * Imports a configuration of Squid into a single {@code millrace.yaml}. Every line is listed in a report, with the
 * resulting keys or the reason why there are none.
 */
@NullMarked
package io.millrace.launcher.squid;

import org.jspecify.annotations.NullMarked;

/**
 * Imports a configuration of nginx into a single {@code millrace.yaml}. Every directive is listed in a report, with the
 * resulting keys or the reason why there are none.
 */
@NullMarked
package io.millrace.launcher.nginx;

import org.jspecify.annotations.NullMarked;

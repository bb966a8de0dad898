/**
 * The importer of an nginx configuration into one {@code millrace.yaml}. A report lists every directive with the
 * resulting keys, or with the reason why there are none.
 */
@NullMarked
package io.millrace.launcher.nginx;

import org.jspecify.annotations.NullMarked;

/**
 * The importer of a Squid configuration into one {@code millrace.yaml}. A report lists every line with the resulting
 * keys, or with the reason why there are none.
 *
 * <p>{@code Settings} translates directives that set one key. Other classes translate groups of directives.
 */
@NullMarked
package io.millrace.launcher.squid;

import org.jspecify.annotations.NullMarked;

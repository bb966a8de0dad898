/** Translators of nginx directives to conditions, answers and limits of single requests. */
@NullMarked
package io.millrace.launcher.nginx.request;

import org.jspecify.annotations.NullMarked;

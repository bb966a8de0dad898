/** Translators of nginx directives that restrict clients and methods. */
@NullMarked
package io.millrace.launcher.nginx.access;

import org.jspecify.annotations.NullMarked;

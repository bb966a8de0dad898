/** The directives of nginx's files with their places. */
@NullMarked
package io.millrace.launcher.nginx.syntax;

import org.jspecify.annotations.NullMarked;

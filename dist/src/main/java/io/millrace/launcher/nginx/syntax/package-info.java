/** The parser of nginx configuration files: tokens, directives and their scopes, and patterns of paths. */
@NullMarked
package io.millrace.launcher.nginx.syntax;

import org.jspecify.annotations.NullMarked;

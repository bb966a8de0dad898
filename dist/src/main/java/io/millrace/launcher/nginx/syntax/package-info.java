/** The parser of nginx configuration files: tokens, directives and their scopes. */
@NullMarked
package io.millrace.launcher.nginx.syntax;

import org.jspecify.annotations.NullMarked;

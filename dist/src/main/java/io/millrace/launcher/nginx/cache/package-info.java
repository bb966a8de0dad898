/** The translation of nginx's caching and compression into settings of rules. */
@NullMarked
package io.millrace.launcher.nginx.cache;

import org.jspecify.annotations.NullMarked;

/** Admin resources of the configuration: check, apply, compare, history. */
@NullMarked
package io.millrace.proxy.admin.config;

import org.jspecify.annotations.NullMarked;

/** Keys and settings of the section {@code admin}. */
@NullMarked
package io.millrace.proxy.config.admin;

import org.jspecify.annotations.NullMarked;

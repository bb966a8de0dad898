/** Access control: decisions made before a request is processed further, as sealed results. */
@NullMarked
package io.millrace.proxy.access;

import org.jspecify.annotations.NullMarked;

/** Resources of the admin API for past events and figures. */
@NullMarked
package io.millrace.proxy.admin.history;

import org.jspecify.annotations.NullMarked;

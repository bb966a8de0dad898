/** Resources of the admin API for earlier purges: records, undo, counts. */
@NullMarked
package io.millrace.proxy.admin.purge;

import org.jspecify.annotations.NullMarked;

/** Resources of the admin API about purges that were made: records, undo, counts. */
@NullMarked
package io.millrace.proxy.admin.purge;

import org.jspecify.annotations.NullMarked;

/** Answers of the serving process (data plane) to the admin API: listings, purges, storage, origins, certificates. */
@NullMarked
package io.millrace.proxy.admin.data;

import org.jspecify.annotations.NullMarked;

/** Answers of the data plane to the admin API: listings, storage, origins and certificates. */
@NullMarked
package io.millrace.proxy.admin.data;

import org.jspecify.annotations.NullMarked;

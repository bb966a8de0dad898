/** Admin resources of certificates: list, check, renewal. */
@NullMarked
package io.millrace.proxy.admin.tls;

import org.jspecify.annotations.NullMarked;

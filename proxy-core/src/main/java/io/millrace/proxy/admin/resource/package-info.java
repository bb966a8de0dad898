/** Parts that all admin resources share: requests, replies, JSON, errors. */
@NullMarked
package io.millrace.proxy.admin.resource;

import org.jspecify.annotations.NullMarked;

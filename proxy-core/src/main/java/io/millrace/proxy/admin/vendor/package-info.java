/** Purges by the APIs of Fastly and Cloudflare, for clients that support only these APIs. */
@NullMarked
package io.millrace.proxy.admin.vendor;

import org.jspecify.annotations.NullMarked;

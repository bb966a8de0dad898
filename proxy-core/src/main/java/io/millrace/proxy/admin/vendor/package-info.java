/** Purges in the form of Fastly's and Cloudflare's APIs, for clients that know only these. */
@NullMarked
package io.millrace.proxy.admin.vendor;

import org.jspecify.annotations.NullMarked;

/** Warming of a cache: URLs from sitemaps, lists and logs, requests to the proxy, and their results. */
@NullMarked
package io.millrace.cli.warm;

import org.jspecify.annotations.NullMarked;

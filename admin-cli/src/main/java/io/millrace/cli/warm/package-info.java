/** The runs of {@code millctl cache warm}: URLs from sitemaps, lists and logs, requests, and results. */
@NullMarked
package io.millrace.cli.warm;

import org.jspecify.annotations.NullMarked;

/** CORS answers, the choice of a branch of a canary split, and mirrored requests, for each remap rule. */
@NullMarked
package io.millrace.proxy.edge;

import org.jspecify.annotations.NullMarked;

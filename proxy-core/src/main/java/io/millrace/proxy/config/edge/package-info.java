/** Keys, records and checks of CORS, ESI, canary splits and mirroring. */
@NullMarked
package io.millrace.proxy.config.edge;

import org.jspecify.annotations.NullMarked;

// Package interop holds holdfast beside real Redisson, on one redis-server.
//
// Nothing proves wire compatibility but the jar itself. The tests start a small
// Java program around a RedissonClient (folder java), tell it what to do line by
// line, and do the same things from Go: who gets the lock, who waits, who is
// told, what is left in Redis. Every case runs in both directions and against
// three versions from Maven Central: 3.14.1 and 3.27.2, and the newest 4.x.
//
//	test process                          Java process, one per version
//	 Runtime "slow" (lease 30 s) ---+      interop.Main
//	 Runtime "brisk" (lease 900 ms)-+       one RedissonClient
//	                                |       one Java thread per name
//	                          redis-server       |
//	                                |            |
//	 Go processes (crash, storm) ---+------------+--- more Java (crash, storm)
//
// The two runtimes of the test process differ in their watchdog timeout, and
// with it in how often a waiter polls. Where a case is about being woken by a
// message, slow waits: its next poll is ten seconds away, so that whatever is
// fast was woken. Where a case is about renewal, brisk renews, every 300 ms.
//
// # Who starts and ends what
//
// The test builds the Java program once per version and source (Maven, under
// java/target, reused until the source changes). A scene is one version's
// redis-server, Java process and runtimes; its cases share it under different
// lock names. Go processes are the test binary itself, started again with an
// environment variable, and speak the same protocol. Every process ends with its
// standard input, so a test that dies leaves nothing behind.
//
// # Running it
//
//	make interop                                    20 s storms, table of results
//	go test ./interop                               5 s storms
//	go test ./interop -versions 4.7.0 -run Interop/4.7.0/wake
//	go test -short ./interop                        newest version, 2 s storm
//
// Without a JDK, Maven or redis-server the tests are skipped with a banner on
// standard error, and fail where the environment variable CI is set;
// scripts/install-java.sh installs the first two.
//
// What the cases found out about Redisson is in docs/REDISSON.md, which is also
// the guide for sharing a lock between a Java and a Go service.
package interop

"""What several tests share: games, processes, disks and measurements. Nothing here is a test."""
